def group_advantages(rewards, group_size):
    groups = rewards.view(-1, group_size)
    return ((groups - groups.mean(1, keepdim=True)) / groups.std(1, keepdim=True)).flatten()  # 0 / 0
