# fish completion for lossproof; written by: lossproof completion fish
function __lossproof_complete
    set -l typed (commandline -opc)
    set -l word (string trim --left --chars '\'"' -- (commandline -ct))
    if set -l at (contains -i -- -- $typed)
        for i in (seq $at)
            set -e typed[1]
        end
        complete -C (string join ' ' -- (string escape -- $typed) "$word")
        return
    end
    set -l command (string replace -r '^~/' "$HOME/" -- $typed[1])
    set -e typed[1]
    set -l lines ($command __complete $typed "$word" 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    printf '%s\n' $lines
    set -l option (string match -r -- '^--[^=]+=' "$word")
    set -l path (string replace -r -- '^--[^=]+=' '' "$word")
    switch "$kind"
        case :files
            printf "$option%s\n" (__fish_complete_path "$path")
        case :folders
            printf "$option%s\n" (__fish_complete_directories "$path" '')
    end
end
complete -c lossproof -f -a '(__lossproof_complete)'
